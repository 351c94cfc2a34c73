%% SPDX-License-Identifier: Apache-2.0
%% The module socket: options at all levels, what is supported, interfaces; and prim_net.
%% expect: {msg_flags,[{cmsg_cloexec,true},{confirm,true},{ctrunc,true},{dontroute,true},{eor,true},{errqueue,true},{more,true},{nosignal,true},{oob,true},{peek,true},{trunc,true}]}
%% expect 29: {msg_flags,[{cmsg_cloexec,true},{confirm,true},{ctrunc,true},{dontroute,true},{eor,true},{errqueue,true},{more,true},{nosignal,true},{notification,true},{oob,true},{peek,true},{trunc,true}]}
%% expect: {ioctl_requests,[{gifaddr,true},{gifbrdaddr,true},{gifconf,true},{gifdstaddr,true},{gifflags,true},{gifhwaddr,true},{gifindex,true},{gifmap,true},{gifmtu,true},{gifname,true},{gifnetmask,true},{giftxqlen,true},{sifaddr,true},{sifbrdaddr,true},{sifdstaddr,true},{sifflags,true},{sifmtu,true},{siftxqlen,true}]}
%% expect 27: {ioctl_requests,[{atmark,true},{gifaddr,true},{gifbrdaddr,true},{gifconf,true},{gifdstaddr,true},{gifflags,true},{gifhwaddr,true},{gifindex,true},{gifmap,true},{gifmtu,true},{gifname,true},{gifnetmask,true},{giftxqlen,true},{nread,true},{sifaddr,true},{sifbrdaddr,true},{sifdstaddr,true},{sifflags,true},{sifmtu,true},{siftxqlen,true}]}
%% expect: {ioctl_flags,[{allmulti,true},{automedia,true},{broadcast,true},{cantconfig,false},{debug,true},{dormant,true},{dying,false},{dynamic,true},{echo,true},{knowsepoch,false},{link0,false},{link1,false},{link2,false},{loopback,true},{lower_up,true},{master,true},{monitor,false},{multicast,true},{noarp,true},{nogroup,false},{notrailers,true},{oactive,false},{pointopoint,true},{portsel,true},{ppromisc,false},{promisc,true},{renaming,false},{running,true},{simplex,false},{slave,true},{staticarp,false},{up,true}]}
%% expect 27: {ioctl_flags,[{allmulti,true},{automedia,true},{broadcast,true},{cantconfig,false},{debug,true},{dhcprunning,false},{dormant,true},{dying,false},{dynamic,true},{echo,true},{knowsepoch,false},{link0,false},{link1,false},{link2,false},{loopback,true},{lower_up,true},{master,true},{monitor,false},{multicast,true},{noarp,true},{nogroup,false},{notrailers,true},{oactive,false},{pointopoint,true},{portsel,true},{ppromisc,false},{private,false},{promisc,true},{renaming,false},{running,true},{simplex,false},{slave,true},{staticarp,false},{up,true}]}
%% expect: [{ipv6,true},{local,true},{netns,true},{sendfile,true}]
%% expect: [{add_membership,true},{add_source_membership,true},{block_source,true},{dontfrag,false},{drop_membership,true},{drop_source_membership,true},{freebind,true},{hdrincl,true},{minttl,true},{msfilter,true},{mtu,true},{mtu_discover,true},{multicast_all,true},{multicast_if,true},{multicast_loop,true},{multicast_ttl,true},{nodefrag,true},{options,false},{pktinfo,true},{pktoptions,true},{recvdstaddr,false},{recverr,true},{recvif,false},{recvopts,true},{recvorigdstaddr,true},{recvtos,true},{recvttl,true},{retopts,true},{router_alert,true},{sendsrcaddr,false},{tos,true},{transparent,true},{ttl,true},{unblock_source,true},{add_membership,true},{addrform,true},{auth_level,false},{authhdr,true},{checksum,false},{drop_membership,true},{dstopts,true},{esp_network_level,false},{esp_trans_level,false},{faith,false},{flowinfo,true},{hoplimit,true},{hopopts,true},{ipcomp_level,false},{join_group,false},{leave_group,false},{mtu,true},{mtu_discover,true},{multicast_hops,true},{multicast_if,true},{multicast_loop,true},{pktoptions,false},{portrange,false},{recverr,true},{recvhoplimit,true},{recvpktinfo,true},{recvtclass,true},{router_alert,true},{rthdr,true},{tclass,true},{unicast_hops,true},{use_min_mtu,false},{v6only,true},{acceptconn,true},{acceptfilter,false},{bindtodevice,true},{broadcast,true},{busy_poll,false},{debug,true},{domain,true},{dontroute,true},{error,false},{keepalive,true},{linger,true},{mark,false},{oobinline,true},{passcred,true},{peek_off,false},{peercred,false},{priority,true},{protocol,true},{rcvbuf,true},{rcvbufforce,false},{rcvlowat,true},{rcvtimeo,false},{reuseaddr,true},{reuseport,true},{rxq_ovfl,false},{setfib,false},{sndbuf,true},{sndbufforce,false},{sndlowat,true},{sndtimeo,false},{timestamp,true},{type,true},{congestion,true},{cork,true},{info,false},{keepcnt,false},{keepidle,false},{keepintvl,false},{maxseg,true},{md5sig,false},{nodelay,true},{noopt,false},{nopush,false},{syncnt,false},{user_timeout,false},{cork,true}]
%% expect 27: [{add_membership,true},{add_source_membership,true},{block_source,true},{dontfrag,false},{drop_membership,true},{drop_source_membership,true},{freebind,true},{hdrincl,true},{minttl,true},{msfilter,true},{mtu,true},{mtu_discover,true},{multicast_all,true},{multicast_if,true},{multicast_loop,true},{multicast_ttl,true},{nodefrag,true},{options,false},{pktinfo,true},{pktoptions,true},{recvdstaddr,false},{recverr,true},{recvif,false},{recvopts,true},{recvorigdstaddr,true},{recvtos,true},{recvttl,true},{retopts,true},{router_alert,true},{sendsrcaddr,false},{tos,true},{transparent,true},{ttl,true},{unblock_source,true},{add_membership,true},{addrform,true},{auth_level,false},{authhdr,true},{checksum,false},{drop_membership,true},{dstopts,true},{esp_network_level,false},{esp_trans_level,false},{faith,false},{flowinfo,true},{hoplimit,true},{hopopts,true},{ipcomp_level,false},{join_group,false},{leave_group,false},{mtu,true},{mtu_discover,true},{multicast_hops,true},{multicast_if,true},{multicast_loop,true},{pktoptions,false},{portrange,false},{recverr,true},{recvhoplimit,true},{recvpktinfo,true},{recvtclass,true},{router_alert,true},{rthdr,true},{tclass,true},{unicast_hops,true},{use_min_mtu,false},{v6only,true},{acceptconn,true},{acceptfilter,false},{bindtodevice,true},{broadcast,true},{bsp_state,false},{busy_poll,false},{debug,true},{domain,true},{dontroute,true},{error,false},{exclusiveaddruse,false},{keepalive,true},{linger,true},{mark,false},{max_msg_size,false},{maxdg,false},{oobinline,true},{passcred,true},{peek_off,false},{peercred,false},{priority,true},{protocol,true},{rcvbuf,true},{rcvbufforce,false},{rcvlowat,true},{rcvtimeo,false},{reuseaddr,true},{reuseport,true},{rxq_ovfl,false},{setfib,false},{sndbuf,true},{sndbufforce,false},{sndlowat,true},{sndtimeo,false},{timestamp,true},{type,true},{congestion,true},{cork,true},{info,false},{keepcnt,true},{keepidle,true},{keepintvl,true},{maxseg,true},{md5sig,false},{nodelay,true},{noopt,false},{nopush,false},{syncnt,false},{user_timeout,false},{cork,true}]
%% expect 29: [{add_membership,true},{add_source_membership,true},{block_source,true},{dontfrag,false},{drop_membership,true},{drop_source_membership,true},{freebind,true},{hdrincl,true},{minttl,true},{msfilter,true},{mtu,true},{mtu_discover,true},{multicast_all,true},{multicast_if,true},{multicast_loop,true},{multicast_ttl,true},{nodefrag,true},{options,false},{pktinfo,true},{pktoptions,true},{recvdstaddr,false},{recverr,true},{recvif,false},{recvopts,true},{recvorigdstaddr,true},{recvtos,true},{recvttl,true},{retopts,true},{router_alert,true},{sendsrcaddr,false},{tos,true},{transparent,true},{ttl,true},{unblock_source,true},{add_membership,true},{addrform,true},{auth_level,false},{authhdr,true},{checksum,false},{drop_membership,true},{dstopts,true},{esp_network_level,false},{esp_trans_level,false},{faith,false},{flowinfo,true},{hoplimit,true},{hopopts,true},{ipcomp_level,false},{join_group,false},{leave_group,false},{mtu,true},{mtu_discover,true},{multicast_hops,true},{multicast_if,true},{multicast_loop,true},{pktoptions,false},{portrange,false},{recverr,true},{recvhoplimit,true},{recvpktinfo,true},{recvtclass,true},{router_alert,true},{rthdr,true},{tclass,true},{unicast_hops,true},{use_min_mtu,false},{v6only,true},{acceptconn,true},{acceptfilter,false},{bindtodevice,true},{broadcast,true},{bsp_state,false},{busy_poll,false},{debug,true},{domain,true},{dontroute,true},{error,false},{exclusiveaddruse,false},{keepalive,true},{linger,true},{mark,false},{max_msg_size,false},{maxdg,false},{oobinline,true},{passcred,true},{peek_off,false},{peercred,false},{priority,true},{protocol,true},{rcvbuf,true},{rcvbufforce,false},{rcvlowat,true},{rcvtimeo,false},{reuseaddr,true},{reuseport,true},{rxq_ovfl,false},{setfib,false},{sndbuf,true},{sndbufforce,false},{sndlowat,true},{sndtimeo,false},{timestamp,true},{timestampns,true},{type,true},{congestion,true},{cork,true},{info,false},{keepcnt,true},{keepidle,true},{keepintvl,true},{maxseg,true},{md5sig,false},{nodelay,true},{noopt,false},{nopush,false},{syncnt,false},{user_timeout,true},{cork,true}]
%% expect: [true,true,true,true]
%% expect: [true,false,true,false,false]
%% expect: [true,true,true,true,false]
%% expect: {{socket,domain},{ok,inet}}
%% expect: {{socket,type},{ok,stream}}
%% expect: {{socket,protocol},{ok,tcp}}
%% expect: {{socket,acceptconn},{ok,false}}
%% expect: {{otp,debug},{ok,false}}
%% expect: {{otp,iow},{ok,false}}
%% expect: {{otp,rcvbuf},{ok,8192}}
%% expect: {{otp,rcvctrlbuf},{ok,1024}}
%% expect: {{otp,sndctrlbuf},{ok,1024}}
%% expect: {{otp,meta},{ok,undefined}}
%% expect: {{otp,use_registry},{ok,true}}
%% expect: {{socket,error},{error,{invalid,{socket_option,{socket,error}}}}}
%% expect: {{socket,nothing},{error,{invalid,{socket_option,{socket,nothing}}}}}
%% expect: {{ip,mtu},{error,enotconn}}
%% expect: {{tcp,info},{error,{invalid,{socket_option,{tcp,info}}}}}
%% expect: {{nothing,x},{error,{invalid,{socket_option,{nothing,x}}}}}
%% expect: {{socket,keepalive},true,ok,{ok,true}}
%% expect: {{socket,keepalive},1,{error,{invalid,{socket_option,{socket,keepalive},1}}},{ok,true}}
%% expect: {{socket,linger},#{linger => 3,onoff => true},ok,{ok,#{linger => 3,onoff => true}}}
%% expect: {{socket,linger},abort,ok,{ok,#{linger => 0,onoff => true}}}
%% expect: {{socket,linger},#{linger => 0,onoff => false},ok,{ok,#{linger => 0,onoff => false}}}
%% expect: {{socket,linger},5,{error,{invalid,{socket_option,{socket,linger},5}}},{ok,#{linger => 0,onoff => false}}}
%% expect: {{socket,reuseaddr},true,ok,{ok,true}}
%% expect: {{socket,reuseport},true,ok,{ok,true}}
%% expect: {{socket,rcvlowat},4,ok,{ok,4}}
%% expect: {{socket,priority},3,ok,{ok,3}}
%% expect: {{ip,tos},lowdelay,ok,{ok,lowdelay}}
%% expect 29: {{ip,tos},lowdelay,ok,{ok,#{dscp => 4,native => 16,tos => #{precedence => routine,tos => lowdelay}}}}
%% expect: {{ip,tos},184,ok,{ok,184}}
%% expect 29: {{ip,tos},184,ok,{ok,#{dscp => ef,native => 184,tos => #{precedence => 5,tos => 12}}}}
%% expect: {{ip,tos},strange,{error,{invalid,{socket_option,{ip,tos},strange}}},{ok,184}}
%% expect 29: {{ip,tos},strange,{error,{invalid,{socket_option,{ip,tos},strange}}},{ok,#{dscp => ef,native => 184,tos => #{precedence => 5,tos => 12}}}}
%% expect: {{ip,ttl},9,ok,{ok,9}}
%% expect: {{ip,ttl},900,{error,einval},{ok,9}}
%% expect: {{ip,mtu_discover},want,ok,{ok,want}}
%% expect: {{ip,mtu_discover},do,ok,{ok,do}}
%% expect: {{tcp,nodelay},true,ok,{ok,true}}
%% expect: {{tcp,cork},true,ok,{ok,true}}
%% expect: {{tcp,congestion},"reno",ok,{ok,[114,101,110,111,0,0,0,0,0,0,0,0,0,0,0]}}
%% expect: {{tcp,congestion},"no such one",{error,enoent},{ok,[114,101,110,111,0,0,0,0,0,0,0,0,0,0,0]}}
%% expect: {{tcp,maxseg},1000,ok,{ok,1000}}
%% expect: {{socket,domain},inet,{error,{invalid,{socket_option,{socket,domain}}}},{ok,inet}}
%% expect: {{otp,rcvbuf},1000,ok,{ok,1000}}
%% expect: {{otp,rcvctrlbuf},default,ok,{ok,1024}}
%% expect: {{otp,debug},maybe_so,{error,{invalid,{socket_option,{otp,debug},maybe_so}}},{ok,false}}
%% expect: {{socket,bindtodevice},7,{error,{invalid,{socket_option,{socket,bindtodevice},7}}},{ok,[]}}
%% expect: 3
%% expect: [{error,closed},{error,closed},{error,closed},{ok,true}]
%% expect: [{ok,default},{ok,local},ok,{ok,true}]
%% expect: {{socket,broadcast},true,ok,{ok,true}}
%% expect: {{ip,multicast_ttl},5,ok,{ok,5}}
%% expect: {{ip,multicast_loop},false,ok,{ok,false}}
%% expect: {{ip,multicast_if},{127,0,0,1},ok,{ok,{127,0,0,1}}}
%% expect: {{ip,multicast_all},false,ok,{ok,false}}
%% expect: {{ip,recverr},true,ok,{ok,true}}
%% expect: {{ip,add_membership},#{interface => loopback,multiaddr => {239,1,2,3}},ok,{error,{invalid,{socket_option,{ip,add_membership}}}}}
%% expect: {{ip,drop_membership},#{interface => loopback,multiaddr => {239,1,2,3}},ok,{error,{invalid,{socket_option,{ip,drop_membership}}}}}
%% expect: {{ip,drop_membership},#{interface => loopback,multiaddr => {239,1,2,3}},{error,eaddrnotavail},{error,{invalid,{socket_option,{ip,drop_membership}}}}}
%% expect: {{ip,add_membership},{239,1,2,3},{error,{invalid,{socket_option,{ip,add_membership},{239,1,2,3}}}},{error,{invalid,{socket_option,{ip,add_membership}}}}}
%% expect: {{ip,add_source_membership},#{interface => loopback,multiaddr => {239,1,2,3},sourceaddr => {127,0,0,1}},ok,{error,{invalid,{socket_option,{ip,add_source_membership}}}}}
%% expect: {{ip,msfilter},#{interface => loopback,mode => include,multiaddr => {239,1,2,3},slist => [{127,0,0,2}]},ok,{error,{invalid,{socket_option,{ip,msfilter}}}}}
%% expect: {{ip,msfilter},#{interface => loopback,mode => aside,multiaddr => {239,1,2,3},slist => []},{error,{invalid,{socket_option,{ip,msfilter},#{interface => loopback,mode => aside,multiaddr => {239,1,2,3},slist => []}}}},{error,{invalid,{socket_option,{ip,msfilter}}}}}
%% expect: {{ip,recvtos},true,ok,{ok,true}}
%% expect: {{udp,cork},true,ok,{ok,true}}
%% expect: {{udp,cork},false,ok,{ok,false}}
%% expect: {{ipv6,v6only},true,ok,{ok,true}}
%% expect: {{ipv6,multicast_hops},3,ok,{ok,3}}
%% expect: {{ipv6,multicast_hops},default,ok,{ok,1}}
%% expect: {{ipv6,multicast_hops},256,{error,{invalid,{socket_option,{ipv6,multicast_hops},256}}},{ok,1}}
%% expect: {{ipv6,unicast_hops},7,ok,{ok,7}}
%% expect: {{ipv6,multicast_loop},false,ok,{ok,false}}
%% expect: {{ipv6,recvtclass},true,ok,{ok,true}}
%% expect: {{ipv6,tclass},8,ok,{ok,8}}
%% expect: {{ipv6,mtu_discover},dont,ok,{ok,dont}}
%% expect: {{ipv6,add_membership},#{interface => 1,multiaddr => {65282,0,0,0,0,0,0,119}},ok,{error,{invalid,{socket_option,{ipv6,add_membership}}}}}
%% expect: {{ipv6,drop_membership},#{interface => 1,multiaddr => {65282,0,0,0,0,0,0,119}},ok,{error,{invalid,{socket_option,{ipv6,drop_membership}}}}}
%% expect: [ok,{ok,1},{ok,true},{ok,<<1,0,0,0>>},{ok,<<1,0,0,0>>},ok,{ok,false},{error,{invalid,{value_spec,strange}}},{error,enoprotoopt},{error,{invalid,value}},ok]
%% expect: [1,{ok,"lo"},{ok,#{addr => {127,0,0,1},family => inet,port => 0}},{ok,#{addr => {255,0,0,0},family => inet,port => 0}},{ok,[up,loopback,running]},{ok,65536},loopback,{ok,1000},{ok,#{base_addr => 0,dma => 0,irq => 0,mem_end => 0,mem_start => 0,port => 0}},{ok,#{addr => {0,0,0,0},family => inet,port => 0}},{ok,#{addr => {127,0,0,1},family => inet,port => 0}}]
%% expect: [#{addr => #{addr => {127,0,0,1},family => inet,port => 0},name => "lo"}]
%% expect: [{error,enodev},{error,enodev},{error,badarg}]
%% expect: [[{error,badarg},{error,badarg}],[{error,badarg},{error,badarg}],[{error,badarg},{error,badarg}]]
%% expect 27: [[{ok,0},{ok,false}],[{ok,2},{ok,false}],[{ok,0},{ok,true}]]
%% expect: [true,[#{addr => #{addr => <<0,0,0,0,0,0>>,family => packet,hatype => loopback,ifindex => 1,pkttype => host,protocol => 0},flags => [up,loopback,running],name => "lo"},#{addr => #{addr => {127,0,0,1},family => inet,port => 0},flags => [up,loopback,running],name => "lo",netmask => #{addr => {255,0,0,0},family => inet,port => 0}},#{addr => #{addr => {0,0,0,0,0,0,0,1},family => inet6,flowinfo => 0,port => 0,scope_id => 0},flags => [up,loopback,running],name => "lo",netmask => #{addr => {65535,65535,65535,65535,65535,65535,65535,65535},family => inet6,flowinfo => 0,port => 0,scope_id => 0}}],{1,"lo"}]
%% expect: [{ok,1},{error,enodev},{ok,"lo"},{error,enxio}]
%% expect: {ok,[#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => tcp,type => stream},#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => udp,type => dgram},#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => ip,type => raw}]}
%% expect 27: {ok,[#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => tcp,socktype => stream},#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => udp,socktype => dgram},#{addr => #{addr => {127,0,0,1},family => inet,port => 80},family => inet,protocol => ip,socktype => raw}]}
%% expect: [{ok,[#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => tcp,type => stream},#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => udp,type => dgram},#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => ip,type => raw}]},{error,eservice}]
%% expect 27: [{ok,[#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => tcp,socktype => stream},#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => udp,socktype => dgram},#{addr => #{addr => {127,0,0,1},family => inet,port => 0},family => inet,protocol => ip,socktype => raw}]},{error,eservice}]
%% expect: [{ok,#{host => "127.0.0.1",service => "80"}},{ok,#{host => "::1",service => "80"}},{error,badarg},{error,einval}]
%% expect: [#{debug => false},{error,notsup}]
%% expect 29: [#{debug => false,netns => false},{error,notsup}]
-module(socket_settings).
-export([main/0]).

main() ->
    Without = fun (L) -> lists:sort([X || X <- L, element(1, X) =/= sctp, not (is_tuple(element(1, X)) andalso
                                                  lists:member(element(1, element(1, X)), [sctp, 'SCTP']))]) end,
    [show({K, Without(socket:supports(K))}) || K <- [msg_flags, ioctl_requests, ioctl_flags]],
    show([X || {_, B} = X <- Without(socket:supports()), is_boolean(B)]),
    show([{O, V} || {{L, O}, V} <- Without(socket:supports(options)), lists:member(L, [socket, ip, ipv6, tcp, udp])]),
    show([socket:is_supported(X) || X <- [ipv6, local, netns, sendfile]]),
    show([socket:is_supported(options, X) || X <- [{ip, ttl}, {ip, dontfrag}, {tcp, nodelay}, {tcp, nothing},
                                                   nothing]]),
    show([socket:is_supported(protocols, X) || X <- [tcp, udp, ip, ipv6, none]]),
    tcp(), udp(), udp6(), native(), interfaces(), names().

set(S, O, V) -> show({O, V, why(fun () -> socket:setopt(S, O, V) end), why(fun () -> socket:getopt(S, O) end)}).

tcp() ->
    {ok, S} = socket:open(inet, stream, tcp),
    [show({O, why(fun () -> socket:getopt(S, O) end)}) || O <- [{socket, domain}, {socket, type}, {socket, protocol},
                                                                {socket, acceptconn},
                                             {otp, debug}, {otp, iow}, {otp, rcvbuf}, {otp, rcvctrlbuf},
                                             {otp, sndctrlbuf}, {otp, meta},
                                             {otp, use_registry}, {socket, error}, {socket, nothing}, {ip, mtu},
                                             {tcp, info}, {nothing, x}]],
    [set(S, O, V) || {O, V} <- [{{socket, keepalive}, true}, {{socket, keepalive}, 1},
                                {{socket, linger}, #{onoff => true, linger => 3}},
                                {{socket, linger}, abort}, {{socket, linger}, #{onoff => false, linger => 0}},
                                {{socket, linger}, 5},
                                {{socket, reuseaddr}, true}, {{socket, reuseport}, true}, {{socket, rcvlowat}, 4},
                                {{socket, priority}, 3}, {{ip, tos}, lowdelay}, {{ip, tos}, 16#b8},
                                {{ip, tos}, strange}, {{ip, ttl}, 9},
                                {{ip, ttl}, 900}, {{ip, mtu_discover}, want}, {{ip, mtu_discover}, do},
                                {{tcp, nodelay}, true},
                                {{tcp, cork}, true}, {{tcp, congestion}, "reno"}, {{tcp, congestion}, "no such one"},
                                {{tcp, maxseg}, 1000}, {{socket, domain}, inet}, {{otp, rcvbuf}, 1000},
                                {{otp, rcvctrlbuf}, default},
                                {{otp, debug}, maybe_so}, {{socket, bindtodevice}, 7}]],
    show(maps:get(priority, #{priority => element(2, socket:getopt(S, {socket, priority}))})),
    ok = socket:close(S),
    show([socket:getopt(S, {ip, ttl}), socket:setopt(S, {ip, ttl}, 9), socket:getopt(S, {otp, rcvbuf}),
          socket:getopt(S, {otp, use_registry})]),
    {ok, L} = socket:open(local, stream),
    show([socket:getopt(L, {socket, protocol}), socket:getopt(L, {socket, domain}),
          socket:setopt(L, {socket, passcred}, true),
          socket:getopt(L, {socket, passcred})]),
    ok = socket:close(L).

udp() ->
    {ok, S} = socket:open(inet, dgram, udp),
    Group = {239, 1, 2, 3},
    [set(S, O, V) || {O, V} <- [{{socket, broadcast}, true}, {{ip, multicast_ttl}, 5}, {{ip, multicast_loop}, false},
                                {{ip, multicast_if}, {127, 0, 0, 1}}, {{ip, multicast_all}, false},
                                {{ip, recverr}, true},
                                {{ip, add_membership}, #{multiaddr => Group, interface => loopback}},
                                {{ip, drop_membership}, #{multiaddr => Group, interface => loopback}},
                                {{ip, drop_membership}, #{multiaddr => Group, interface => loopback}},
                                {{ip, add_membership}, Group},
                                {{ip, add_source_membership},
                                 #{multiaddr => Group, interface => loopback, sourceaddr => {127, 0, 0, 1}}},
                                {{ip, msfilter}, #{multiaddr => Group, interface => loopback, mode => include,
                                                   slist => [{127, 0, 0, 2}]}},
                                {{ip, msfilter}, #{multiaddr => Group, interface => loopback, mode => aside,
                                                   slist => []}},
                                {{ip, recvtos}, true}, {{udp, cork}, true}, {{udp, cork}, false}]],
    ok = socket:close(S).

udp6() ->
    {ok, S} = socket:open(inet6, dgram, udp),
    [set(S, O, V) || {O, V} <- [{{ipv6, v6only}, true}, {{ipv6, multicast_hops}, 3}, {{ipv6, multicast_hops}, default},
                                {{ipv6, multicast_hops}, 256}, {{ipv6, unicast_hops}, 7},
                                {{ipv6, multicast_loop}, false},
                                {{ipv6, recvtclass}, true}, {{ipv6, tclass}, 8}, {{ipv6, mtu_discover}, dont},
                                {{ipv6, add_membership}, #{multiaddr => {16#ff02, 0, 0, 0, 0, 0, 0, 16#77},
                                                           interface => 1}},
                                {{ipv6, drop_membership}, #{multiaddr => {16#ff02, 0, 0, 0, 0, 0, 0, 16#77},
                                                            interface => 1}}]],
    ok = socket:close(S).

native() ->
    {ok, S} = socket:open(inet, stream, tcp),
    show([socket:setopt_native(S, {6, 1}, 1), socket:getopt_native(S, {6, 1}, integer),
          socket:getopt_native(S, {tcp, 1}, boolean),
          socket:getopt_native(S, {6, 1}, 4), socket:getopt_native(S, {6, 1}, <<7:64>>),
          socket:setopt_native(S, {6, 1}, <<0:32>>),
          socket:getopt_native(S, {6, 1}, boolean), why(fun () -> socket:getopt_native(S, {6, 1}, strange) end),
          socket:getopt_native(S, {6, 7777}, integer),
          why(fun () -> socket:setopt_native(S, {6, 1}, strange) end), socket:setopt_native(S, {tcp, nodelay}, true)]),
    ok = socket:close(S).

interfaces() ->
    {ok, S} = socket:open(inet, dgram, udp),
    {ok, I} = socket:ioctl(S, gifindex, "lo"),
    show([I, socket:ioctl(S, gifname, I), socket:ioctl(S, gifaddr, "lo"), socket:ioctl(S, gifnetmask, "lo"),
          socket:ioctl(S, gifflags, "lo"),
          socket:ioctl(S, gifmtu, "lo"), maps:get(family, element(2, socket:ioctl(S, gifhwaddr, "lo"))),
          socket:ioctl(S, giftxqlen, "lo"), socket:ioctl(S, gifmap, "lo"),
          socket:ioctl(S, gifbrdaddr, "lo"), socket:ioctl(S, gifdstaddr, "lo")]),
    {ok, Conf} = socket:ioctl(S, gifconf),
    show([X || #{name := "lo"} = X <- Conf]),
    show([socket:ioctl(S, gifaddr, "nothere"), socket:ioctl(S, gifname, 99999),
          why(fun () -> socket:ioctl(S, nothing) end)]),
    ok = socket:close(S),
    waiting().

%% Since OTP 27: how much there is to be received, and whether what came out of band is next.
waiting() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Address} = socket:sockname(L),
    {ok, A} = socket:open(inet, stream, tcp),
    ok = socket:connect(A, Address),
    {ok, B} = socket:accept(L),
    Tell = fun() -> [why(fun() -> socket:ioctl(B, R) end) || R <- [nread, atmark]] end,
    Empty = Tell(),
    ok = socket:send(A, <<"abc">>),
    ok = socket:send(A, <<"!">>, [oob]),
    {ok, <<"a">>} = socket:recv(B, 1),
    Some = Tell(),
    {ok, <<"bc">>} = socket:recv(B, 2),
    show([Empty, Some, Tell()]),
    [ok = socket:close(S) || S <- [A, B, L]].

names() ->
    {ok, Name} = net:gethostname(),
    {ok, Addresses} = net:getifaddrs(fun (#{name := N}) -> N =:= "lo" end),
    {ok, All} = net:if_names(),
    show([Name =:= element(2, inet:gethostname()), Addresses, lists:keyfind(1, 1, All)]),
    show([net:if_name2index("lo"), net:if_name2index("nothere"), net:if_index2name(1), net:if_index2name(99999)]),
    show(net:getaddrinfo("127.0.0.1", "80")),
    show([net:getaddrinfo("127.0.0.1"), net:getaddrinfo("127.0.0.1", "no service")]),
    show([net:getnameinfo(#{family => inet, port => 80, addr => loopback}, [numerichost, numericserv]),
          net:getnameinfo(#{family => inet6, port => 80, addr => loopback}, [numerichost, numericserv]),
          why(fun () -> net:getnameinfo(#{family => inet, port => 80, addr => loopback}, [strange]) end),
          net:getnameinfo(#{family => inet, port => 80, addr => {1, 2}}, [])]),
    show([prim_net:info(), why(fun () -> prim_net:get_if_entry(#{}) end)]).

why(F) -> try F() catch C:R -> {C, R} end.

show(T) -> io:format("~0p~n", [T]).
